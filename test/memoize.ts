/** Returns a function that calls another one only once for each key in this process. */
export function memoize<T>(create: (key: string) => T): (key: string) => T {
  const results = new Map<string, T>()
  return (key) => {
    if (!results.has(key)) results.set(key, create(key))
    return results.get(key) as T
  }
}
