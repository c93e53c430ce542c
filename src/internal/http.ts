/**
 * What only the runtimes need to serve over HTTP; the package does not export it.
 *
 * @module
 */
export {
  createEndpoint,
  listenFault,
  type Endpoint,
} from '../transport/streamable-http/endpoint.ts'
export { createGuard, type Guard } from '../transport/http/guard.ts'
