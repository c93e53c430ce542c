// What the playground suggests for an entry that the server does not list.
import { expect, it } from 'vitest'
import { similarTo } from '../../examples/playground/page/views/missing.ts'

const candidates = ['get_forecast', 'get_alerts', 'draw-radar', 'x'].map((key) => {
  return { kind: 'tool' as const, key, title: key }
})
const suggested = (key: string) => similarTo(key, candidates).map((each) => each.key)

it('The playground suggests the entries with the most similar names', () => {
  expect(suggested('getForecasts')).toEqual(['get_forecast', 'get_alerts'])
  expect(suggested('radar')).toEqual(['draw-radar'])
  expect(suggested('nothing')).toEqual([])
  expect(suggested('')).toEqual([])
})
