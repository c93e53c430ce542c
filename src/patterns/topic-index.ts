/**
 * Finds the listeners of a topic without asking every listener.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */

/** The maximum length of a topic that covers the topics below it, in characters. */
const MAX_COVERING = 2000

/**
 * A topic and all topics above it: for each `/` in the topic, the text before it, with and without the
 * `/`. Topics longer than {@link MAX_COVERING} cover no topics below them and are omitted.
 */
export function topicAndAncestors(topic: string): string[] {
  const topics = [topic]
  for (const { index } of topic.slice(0, MAX_COVERING).matchAll(/\//g)) {
    topics.push(topic.slice(0, index), topic.slice(0, index + 1))
  }
  return topics
}

/** Listeners by topic. A topic without listeners takes no memory. */
export interface TopicIndex<T> {
  /** Adds a listener to the given topics, or by default to all topics. Returns a function that removes it. */
  add(listener: T, topics?: readonly string[]): () => void
  /** The listeners to any of these topics, and the listeners to all topics, each once. */
  find(topics: readonly string[]): Set<T>
  /** Whether no topic has listeners. */
  isEmpty(): boolean
}

/** Creates an index without listeners. */
export function topicIndex<T>(): TopicIndex<T> {
  /** Listeners to all topics have the key `undefined`. */
  const index = new Map<string | undefined, Set<T>>()
  return {
    add(listener, topics) {
      const keys = topics ?? [undefined]
      for (const key of keys) index.set(key, (index.get(key) ?? new Set()).add(listener))
      return () => {
        for (const key of keys) {
          const listeners = index.get(key)
          if (listeners?.delete(listener) && listeners.size === 0) index.delete(key)
        }
      }
    },
    isEmpty: () => index.size === 0,
    find: (topics) => new Set([undefined, ...topics].flatMap((key) => [...(index.get(key) ?? [])])),
  }
}
