/** Damages messages, as careless and hostile peers do. */
import type { JsonObject } from '../../src/index.ts'
import type { Random } from './random.ts'

/** A copy of a JSON value in which one to three places are damaged. */
export function mutate(random: Random, value: unknown): unknown {
  let damaged = structuredClone(value)
  for (let n = 0; n <= random.below(3); n++) damaged = damageSomewhere(random, damaged)
  return damaged
}

function damageSomewhere(random: Random, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || random.chance(0.15))
    return damage(random, value)
  const keys = Object.keys(value)
  if (keys.length === 0) return damage(random, value)
  const key = random.pick(keys)
  const members = value as JsonObject
  if (random.chance(0.2)) Reflect.deleteProperty(members, key)
  else if (random.chance(0.15)) members[random.name()] = random.json()
  else members[key] = damageSomewhere(random, members[key])
  return value
}

function damage(random: Random, value: unknown): unknown {
  if (typeof value === 'string' && random.chance(0.5)) return value + random.text(4)
  return random.pick([
    random.json(),
    random.json(),
    null,
    [value],
    { value },
    JSON.stringify(value) ?? 'undefined',
  ])
}

/** Text in pieces, cut anywhere, also inside a character. */
export function cut(random: Random, text: string): Uint8Array[] {
  const bytes = new TextEncoder().encode(text)
  const pieces: Uint8Array[] = []
  for (let at = 0; at < bytes.length;) {
    const end = Math.min(bytes.length, at + 1 + random.below(40))
    pieces.push(bytes.slice(at, end))
    at = end
  }
  return pieces
}
