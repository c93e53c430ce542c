/**
 * Loads the code that only some connections need. Bundlers that split code put this code into a separate
 * file.
 *
 * @see https://developer.mozilla.org/en-US/docs/Web/JavaScript/Reference/Operators/import
 */
import { SdkError } from '../protocol/errors.ts'
import type { OnDemand } from './on-demand.ts'

/**
 * Loads the code, unless it is already loaded.
 *
 * @throws {SdkError} `NETWORK` if the code cannot be loaded. The cause is the error of the platform.
 */
export function loadOnDemand(): Promise<OnDemand> {
  return import('./on-demand.ts').then(
    ({ onDemand }) => onDemand,
    (cause: unknown) => {
      throw new SdkError('NETWORK', 'Cannot load part of the client', { cause })
    },
  )
}
