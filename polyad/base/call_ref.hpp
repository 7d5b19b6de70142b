#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace polyad {

// A lambda or another object that can be called, by reference: the parameter of a function that is compiled
// once, where a template would be compiled again for every lambda. Unlike std::function it copies nothing and
// never allocates; what it refers to must live as long as it is called.
template <class Signature>
class CallRef;

template <class Fn, class Ref, class Result, class... Args>
concept CallableBy =
    !std::is_same_v<std::remove_cvref_t<Fn>, Ref> && std::is_object_v<std::remove_reference_t<Fn>> &&
    std::is_invocable_r_v<Result, Fn&, Args...>;

template <class Result, class... Args>
class CallRef<Result(Args...)> {
 public:
  template <CallableBy<CallRef, Result, Args...> Fn>
  CallRef(Fn&& fn)  // NOLINT(bugprone-forwarding-reference-overload): not for copies
      : callee_(const_cast<void*>(static_cast<const void*>(std::addressof(fn)))),
        call_([](void* callee, Args... args) -> Result {
          return (*static_cast<std::remove_reference_t<Fn>*>(callee))(std::forward<Args>(args)...);
        }) {}

  Result operator()(Args... args) const { return call_(callee_, std::forward<Args>(args)...); }

 private:
  void* callee_;
  Result (*call_)(void*, Args...);
};

}  // namespace polyad
