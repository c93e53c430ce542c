/** Work that ends on request. */
export function work(name: string, log: string[]) {
  let resolve = (_value: string): void => {}
  const end = new Promise<string>((given) => (resolve = given))
  const run = async (): Promise<string> => {
    log.push(`${name} begins`)
    try {
      return await end
    } finally {
      log.push(`${name} ends`)
    }
  }
  return { run, resolve }
}
