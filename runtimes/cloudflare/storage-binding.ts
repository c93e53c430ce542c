/**
 * Which storage belongs to a request.
 *
 * @see https://developers.cloudflare.com/durable-objects/api/sqlite-storage-api/
 */
const storages = new WeakMap<Request, DurableObjectStorage>()

/** Binds a request to the storage of the object that serves it. */
export function bindStorage(request: Request, storage: DurableObjectStorage): void {
  storages.set(request, storage)
}

/** The storage that a request was bound to; none outside of sessions on Cloudflare. */
export function boundStorage(request: Request): DurableObjectStorage | undefined {
  return storages.get(request)
}
