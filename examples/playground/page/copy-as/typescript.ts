/**
 * Requests as programs with Edgewise.
 */
import { variableOf } from '../secrets.ts'
import type { Operation, ServerAddress } from './operation.ts'

/** The program that sends a request. */
export function typescript(server: ServerAddress, operation: Operation): string {
  return [
    "import { connect } from 'edgewise/client'",
    '',
    `await using client = await connect(${connectArguments(server)})`,
    `const result = await client.${call(operation)}`,
    'console.log(JSON.stringify(result, null, 2))',
    '',
  ].join('\n')
}

function connectArguments({ url, revision, isPinned, headerNames, access }: ServerAddress): string {
  const headers = headerNames.map((name) => {
    return `    ${key(name)}: process.env.${variableOf(name)} ?? '',`
  })
  if (access !== 'none') headers.push('    authorization: `Bearer ${process.env.TOKEN}`,')
  const options = [
    ...(isPinned ? [`  revision: ${literal(revision)},`] : []),
    ...(headers.length > 0 ? ['  headers: {', ...headers, '  },'] : []),
  ]
  return options.length > 0 ? `${literal(url)}, {\n${options.join('\n')}\n}` : literal(url)
}

function call(operation: Operation): string {
  if (operation.method === 'resources/read') return `readResource(${literal(operation.uri)})`
  const { method, name, arguments: args } = operation
  const given = Object.keys(args).length > 0 ? `, ${literal(args)}` : ''
  return `${method === 'tools/call' ? 'callTool' : 'getPrompt'}(${literal(name)}${given})`
}

/** The maximum length of an object or array on one line. */
const MAX_LINE = 60

/** A JSON value as a literal of JavaScript. */
export function literal(value: unknown, indent = ''): string {
  if (typeof value === 'string') return text(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined'
  const inner = `${indent}  `
  const isArray = Array.isArray(value)
  const parts = isArray
    ? value.map((item: unknown) => literal(item, inner))
    : Object.entries(value).map(([name, member]) => `${key(name)}: ${literal(member, inner)}`)
  if (parts.length === 0) return isArray ? '[]' : '{}'
  const [open, close] = isArray ? ['[', ']'] : ['{', '}']
  const line = isArray ? `[${parts.join(', ')}]` : `{ ${parts.join(', ')} }`
  if (line.length <= MAX_LINE && !line.includes('\n')) return line
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${close}`
}

function key(name: string): string {
  // A plain `__proto__` would set the prototype
  if (name === '__proto__') return `['__proto__']`
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : text(name)
}

function text(value: string): string {
  const escaped = JSON.stringify(value)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"')
  return `'${escaped.replaceAll("'", String.raw`\'`)}'`
}
