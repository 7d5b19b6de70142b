# docker build -t polyad .
# docker run --rm --user "$(id -u)" -v "$PWD:/data" polyad cpd tensor.tns -r 8
FROM debian:12-slim AS build
COPY . /source
WORKDIR /source
RUN ./run package

FROM debian:12-slim
COPY --from=build /source/build/portable/polyad_*.deb /tmp/
RUN apt-get update \
    && apt-get install -y --no-install-recommends /tmp/polyad_*.deb openmpi-bin \
    && rm -rf /tmp/polyad_*.deb /var/lib/apt/lists/* \
    && useradd --create-home polyad
USER polyad
WORKDIR /data
ENTRYPOINT ["polyad"]
CMD ["--help"]
