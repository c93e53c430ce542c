/**
 * Binds requests to the storage of their object.
 *
 * @see https://developers.cloudflare.com/durable-objects/api/sqlite-storage-api/
 */
const storages = new WeakMap<Request, DurableObjectStorage>()

/** Binds a request to the storage of the object that serves it. */
export function bindStorage(request: Request, storage: DurableObjectStorage): void {
  storages.set(request, storage)
}

/** The storage that a request is bound to; `undefined` outside of sessions on Cloudflare. */
export function boundStorage(request: Request): DurableObjectStorage | undefined {
  return storages.get(request)
}
