// The steps of a sign-in, as they are recorded.
import { expect, it } from 'vitest'
import { observeSteps } from '../../examples/playground/page/sign-in/observe.ts'
import { recordSteps, type SignInStep } from '../../examples/playground/page/sign-in/steps.ts'

it('A step shows no token, even if the token endpoint answers with a form instead of JSON', async () => {
  const steps: SignInStep[] = []
  const body = 'access_token=gho_s3cret&refresh_token=s3cret&scope=repo&token_type=bearer'
  const answer = new Response(body, {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  const send = observeSteps(
    recordSteps((step) => steps.push(step)),
    () => Promise.resolve(answer),
  )
  await send('https://github.example/token', { method: 'POST', body: 'grant_type=code' })
  const { said, state } = steps.at(-1)!
  expect({ said, state }).toEqual({
    said: expect.stringContaining('scope=repo'),
    state: 'failed',
  })
  expect(JSON.stringify(steps)).not.toContain('s3cret')
})
