/** The cities that the playground's server knows. */
import { ErrorCode, ProtocolError } from 'edgewise'

/** Every city. */
export const cities = [
  { name: 'Kyoto', country: 'Japan', people: 1_460_000, sea: false },
  { name: 'Lisbon', country: 'Portugal', people: 545_000, sea: true },
  { name: 'Oslo', country: 'Norway', people: 709_000, sea: true },
  { name: 'Quito', country: 'Ecuador', people: 1_763_000, sea: false },
] as const

/**
 * Finds a city by its name.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` if the city is unknown.
 */
export function findCity(name: string): (typeof cities)[number] {
  const city = cities.find((each) => each.name === name)
  if (city) return city
  throw new ProtocolError(ErrorCode.INVALID_PARAMS, `Unknown city: "${name}"`)
}

/** Returns the names that begin with the typed text. */
export function matchCities(typed: string): string[] {
  const start = typed.toLowerCase()
  return cities.map(({ name }) => name).filter((name) => name.toLowerCase().startsWith(start))
}
