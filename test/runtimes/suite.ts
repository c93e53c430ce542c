// The portable suite: the same tests on Node, workerd, Deno, Bun and Chromium.
import { equal, type Suite } from './harness.ts'

export const suite: Suite = {
  'Streams carry text through an encoder and a decoder': async () => {
    const stream = new Response('æøå').body!.pipeThrough(new TextDecoderStream())
    let text = ''
    for await (const part of stream) text += part
    equal(text, 'æøå')
  },
}
