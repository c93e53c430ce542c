/** A value or a promise of it. */
export type Awaitable<T> = T | Promise<T>

/**
 * Calls `next` with a value: immediately if the value is available, otherwise when its promise is fulfilled. Unlike
 * `await`, this creates no promise for an available value.
 *
 * @param recover Called instead of `next` if the promise is rejected.
 * @throws The error of `next`, if the value is available. Otherwise, the returned promise is rejected.
 */
export function andThen<T, Next>(
  value: T | PromiseLike<T>,
  next: (value: T) => Awaitable<Next>,
  recover?: (error: unknown) => Awaitable<Next>,
): Awaitable<Next> {
  // The promise may be of another implementation
  return (value as PromiseLike<T> | null | undefined)?.then
    ? Promise.resolve(value).then(next, recover)
    : next(value as T)
}

/** Calls `run`, then `next` with its value, or `recover` with its error. Does not handle the errors of `next`. */
export function whenSettled<T, Next>(
  run: () => T | PromiseLike<T>,
  next: (value: T) => Awaitable<Next>,
  recover: (error: unknown) => Awaitable<Next>,
): Awaitable<Next> {
  let value: T | PromiseLike<T>
  try {
    value = run()
  } catch (error) {
    return recover(error)
  }
  return andThen(value, next, recover)
}
