// Runs the portable suite on workerd: the answer to any request is one line for each test.
import { run } from './harness.ts'
import { suite } from './suite.ts'

export default {
  fetch(): Response {
    const lines = new TransformStream<string, string>()
    const writer = lines.writable.getWriter()
    void run(suite, (result) => void writer.write(`${JSON.stringify(result)}\n`)).then(() =>
      writer.close(),
    )
    return new Response(lines.readable.pipeThrough(new TextEncoderStream()))
  },
}
