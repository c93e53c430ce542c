import { fileURLToPath } from 'node:url'

/** The folder of the package, with a slash at its end. */
export const root: string = fileURLToPath(new URL('..', import.meta.url))
