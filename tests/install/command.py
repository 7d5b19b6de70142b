"""Commands that must succeed."""

import subprocess


def run(*command: object, **options) -> str:
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=600, **options)
    if result.returncode != 0:
        raise AssertionError(f"{command}:\n{result.stdout}{result.stderr}")
    return result.stdout
