/** The floor over stdio: a bare loop that parses each line and answers with the right JSON. */
interface Call {
  id?: number | string
  method: string
  params: { arguments: { text: string } }
}

function answer({ method, params }: Call): object {
  if (method === 'tools/call') {
    return { content: [{ type: 'text', text: params.arguments.text }] }
  }
  return {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'floor', version: '1.0.0' },
  }
}

let rest = ''
process.stdin.setEncoding('utf8').on('data', (chunk: string) => {
  const lines = (rest + chunk).split('\n')
  rest = lines.pop() ?? ''
  for (const line of lines) {
    const call = JSON.parse(line) as Call
    if (call.id === undefined) continue
    process.stdout.write(
      `${JSON.stringify({ jsonrpc: '2.0', id: call.id, result: answer(call) })}\n`,
    )
  }
})
