import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import manifest from '../../../../package.json' with { type: 'json' }
import { nodeCommand } from '../../../node-program.ts'
import { serve, toNodeListener } from '../../../../runtimes/node/index.ts'
import { createHandler } from '../../../../src/presets/server.ts'
import type { HttpServer } from '../../../../src/transport/index.ts'
import { isCommand, usageOf } from '../../../../runtimes/node/cli/usage.ts'
import { command, edgewise, program, start } from './run.ts'
import { makeServer } from './server.ts'

const stdio = ['--', ...nodeCommand('test/runtimes/node/cli/stdio.ts')]
let http: HttpServer

beforeAll(async () => {
  http = await serve(makeServer())
})
afterAll(() => http.close())

describe.each(['2026-07-28', '2025-06-18'])('a server of %s', (revision) => {
  const run = (name: string, ...words: string[]) =>
    command(name, http.url, ...words, '--revision', revision)

  it('is listed, whole and by kind', async () => {
    const { out, code } = await run('list')
    expect(code).toBe(0)
    expect(out).toContain(`shop 2.0.0 speaks ${revision}\nBe polite.\ntools\n`)
    expect(out).toMatch(/^ {2}add {5}Adds up\.$/m)
    expect(out).toMatch(/^ {2}shop:\/\/list {3}What there is$/m)
    expect(out).toContain('prompts\n  greet')
    const json = await run('list', 'prompts', '--json')
    expect(JSON.parse(json.out)).toMatchObject([{ name: 'greet' }])
  })

  it('runs a tool with values as its schema says, JSON, and an object', async () => {
    const words = ['add', 'a=1', 'list:=[2, 3]', 'note=4']
    expect(await run('call', ...words)).toMatchObject({
      code: 0,
      out: '{"sum":6,"note":"4"}\n',
    })
    const json = await run('call', 'add', '--json', '--args', '{"a":1,"list":[1]}', 'a=5')
    expect(JSON.parse(json.out)).toMatchObject({ structuredContent: { sum: 6 } })
  })

  it('gets text where its schema takes text too, and no number that JSON cannot keep', async () => {
    const words = ['id=12', 'either=12', 'size=1', 'count=null', 'more=[1]', 'empty=']
    const { out } = await run('call', 'echo', ...words, 'big=12345678901234567890', 'huge=1e400')
    expect(JSON.parse(out)).toEqual({
      id: '12',
      either: '12',
      size: '1',
      count: null,
      more: [1],
      empty: '',
      big: '12345678901234567890',
      huge: '1e400',
    })
    expect((await run('call', 'echo', ':=3')).code).toBe(2)
    expect(await run('call', 'echo', 'a=1', 'b=2', 'a:=3')).toMatchObject({
      code: 2,
      err: expect.stringContaining('"a" has more than one value') as string,
    })
  })

  it('whose tool fails, or that refuses, ends with 1 and says why', async () => {
    expect(await run('call', 'fail')).toMatchObject({ code: 1, out: '', err: 'Sold out\n' })
    const refused = await run('call', 'none')
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.err).toContain('Unknown tool: "none" (-32602)')
  })

  it('cannot write control sequences to the terminal', async () => {
    expect((await run('call', 'evil')).out).toBe('a\\u001b[2Jb\n')
    expect((await run('call', 'look')).out).toBe('[image image/png, 2 bytes]\n')
  })

  it('that asks is declined without a terminal, and gets defaults with --yes', async () => {
    expect(await run('call', 'ask')).toMatchObject({ code: 0, out: 'decline\n' })
    expect(await run('call', 'ask', '--yes')).toMatchObject({ out: 'Size m\n' })
    const insisted = await run('call', 'insist', '--yes')
    expect(insisted.out).toBe('decline\n')
    expect(insisted.err).toContain('The form requires name')
  })

  it('completes arguments of prompts and variables of templates', async () => {
    expect(await run('complete', 'greet', 'who=A')).toMatchObject({ code: 0, out: 'Ada\nAlan\n' })
    const template = 'shop://of/{who}/{thing}'
    expect((await run('complete', template, 'thing=tea', 'who=Ada')).out).toBe('Ada-tea\n')
    const many = await run('complete', template, 'who=')
    expect(many.out.trim().split('\n')).toHaveLength(100)
    expect(many.err).toBe('There are 120 values in total\n')
    const json = await run('complete', 'greet', 'who=G', '--json')
    expect(JSON.parse(json.out)).toMatchObject({ values: ['Grace'] })
    expect(await run('complete', 'none', 'who=A')).toMatchObject({ code: 1 })
  })

  it('gives resources as they are, and prompts', async () => {
    expect((await run('read', 'shop://list')).out).toBe('tea\n')
    expect((await run('read', 'shop://none')).code).toBe(1)
    expect((await run('prompt', 'greet', 'who=Ada')).out).toBe('user: Greet Ada\n')
  })
})

it.each(['2026-07-28', '2025-11-25'])(
  'edgewise follows a task of %s to its end',
  async (revision) => {
    const called = await command('call', http.url, 'bake', '--revision', revision)
    expect(called).toMatchObject({ code: 0, out: 'Baked\n' })
  },
)

it('edgewise reads an object from standard input, also with a byte order mark', async () => {
  const words = ['call', http.url, 'add', '--args', '-']
  const child = execFile(process.execPath, [...program, ...words])
  let out = ''
  child.stdout?.on('data', (text: string) => (out += text))
  const ended = new Promise((resolve) => child.on('close', resolve))
  child.stdin?.end('\uFEFF{"a": 1}')
  expect([await ended, out]).toEqual([0, '{"sum":1}\n'])
})

it('edgewise writes the bytes of a resource to a pipe unchanged', async () => {
  const read = promisify(execFile)
  const { stdout } = await read(process.execPath, [...program, 'read', http.url, 'shop://bytes'], {
    encoding: 'buffer',
  })
  expect([...stdout]).toEqual([0, 255, 10])
})

describe('a program over stdio', () => {
  it('is started, asked and ended', async () => {
    expect(await command('call', 'add', 'a=1', ...stdio)).toMatchObject({
      code: 0,
      out: '{"sum":1}\n',
    })
  })

  it('with odd responses is shown as it answers, and listed without invalid entries', async () => {
    const odd = ['--', ...nodeCommand('test/runtimes/node/cli/odd-server.ts')]
    expect(await command('call', 'odd', ...odd)).toEqual({
      code: 0,
      out: '{"type":"video","data":"x"}\n{"type":"image"}\n{"type":"resource"}\nnull\n',
      err: '',
    })
    expect((await command('prompt', 'any', ...odd)).out).toBe('user: "plain"\n')
    const read = await command('read', 'a:b', ...odd)
    expect(read).toEqual({ code: 0, out: '', err: 'Invalid contents: {"uri":"a:b"}\n' })
    const listed = await command('list', ...odd)
    expect(listed).toEqual({ code: 0, out: 'odd 1.0.0 speaks 2025-06-18\ntools\n  odd\n', err: '' })
    const { err } = await command('list', '--verbose', ...odd)
    expect(err).toBe('Problem: The server answered an unknown request\n')
  })

  it('that does not exist is named', async () => {
    const { code, err } = await command('list', '--', 'no-such-program')
    expect(code).toBe(3)
    expect(err).toContain('Cannot connect to no-such-program')
    expect(err).toContain('there is no such program')
  })
})

it('edgewise suggests the usual path if a URL without one is not found [P033]', async () => {
  const server = createServer((_, response) => void response.writeHead(404).end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const { code, err } = await command('list', `http://127.0.0.1:${port}`)
  server.close()
  expect(code).toBe(3)
  expect(err).toContain(`; the path may be missing: try http://127.0.0.1:${port}/mcp`)
})

it('edgewise reports the error of a proxy that has lost its server', async () => {
  const handle = createHandler(makeServer())
  const proxy = createServer(
    toNodeListener((request) => {
      const isCall = request.headers.get('mcp-method') === 'tools/call'
      return isCall ? new Response('The worker was restarted', { status: 503 }) : handle(request)
    }),
  )
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const { port } = proxy.address() as AddressInfo
  const { code, err } = await command('call', `http://127.0.0.1:${port}/`, 'add', 'a=1', 'b=2')
  proxy.close()
  expect({ code, err }).toEqual({
    code: 3,
    err: '"tools/call" was refused (HTTP 503): The worker was restarted (HTTP)\n',
  })
})

it('edgewise listen prints notifications until it is interrupted', async () => {
  const { child, outcome } = start('listen', http.url, '--json')
  await expect.poll(() => outcome.err).toContain('Listening to shop')
  await command('call', http.url, 'grow')
  await expect.poll(() => outcome.out).toContain('tools/list_changed')
  const ended = new Promise((resolve) => child.on('close', resolve))
  child.kill('SIGINT')
  expect(await ended).toBe(0)
})

describe('help', () => {
  it('lists all commands, and the arguments of each', async () => {
    const { out, code } = await command('--help')
    expect(code).toBe(0)
    const names = [...out.matchAll(/^ {2}([a-z]+) .*$/gm)].map(([, name = '']) => name)
    expect(names).toContain('complete')
    expect(names.filter((name) => !isCommand(name))).toEqual([])
    for (const name of names.filter(isCommand)) {
      expect(usageOf(name)).toMatch(new RegExp(String.raw`^Usage: edgewise ${name} [<[]`))
    }
    expect((await command('listen', '--help')).out).toContain('--resource')
    expect((await command('call', '--help')).out).not.toContain('--resource')
  })
})

it('the built program prints the version of the package', async () => {
  expect(await edgewise('--version')).toEqual({ code: 0, out: `${manifest.version}\n`, err: '' })
})

it('a server that wants other scopes is quoted on them when it refuses to connect [P024]', async () => {
  const challenge = 'Bearer error="insufficient_scope", scope="shop:read shop:list"'
  const server = createServer((_, response) => {
    response.writeHead(403, { 'www-authenticate': challenge }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const { code, err } = await command('list', `http://127.0.0.1:${port}/`, '--token', 'few')
  server.close()
  expect(code).toBe(3)
  expect(err).toMatch(
    /^Cannot connect to .*\. It requires a token with the scopes shop:read shop:list\n$/,
  )
})

describe('options', () => {
  const target = { URL: ['http://localhost/'], program: ['--', 'server'] }
  it.each([
    ['--env a=b', 'URL'],
    ['--cwd .', 'URL'],
    ['--header a:b', 'program'],
    ['--token a', 'program'],
    ['--sign-in', 'program'],
  ] as const)(
    '%s with a %s exits with 2, because it has no effect there [P001]',
    async (option, kind) => {
      for (const name of ['list', 'inspect', 'bridge']) {
        const [url, ...program] = kind === 'URL' ? target.URL : ['', ...target.program]
        const words = [name, url, ...option.split(' '), ...program].filter((word) => word)
        const { code, err } = await command(...(words as string[]))
        const [flag] = option.split(' ')
        expect([code, err]).toEqual([
          2,
          expect.stringContaining(`"${flag}" has no effect with a ${kind}`),
        ])
      }
    },
  )
})

describe('wrong usage', () => {
  it.each([
    [['nope'], 'Unknown command: "nope"'],
    [['list'], 'Specify a server'],
    [['list', 'node'], 'it must begin with "http://" or "https://"; a program follows "--"'],
    [['list', 'localhost:80/mcp'], 'or "https://", such as "http://localhost:80/mcp"'],
    [['list', 'http://localhost/', 'cats'], 'Specify one of tools'],
    [['call', 'http://localhost/'], 'Specify a tool'],
    [['call', 'http://localhost/', 'x', '--args', '[]'], '"--args" must be a JSON object'],
    [['call', 'http://localhost/', 'x', '--args', '{'], '"--args" is not JSON'],
    [['call', 'http://localhost/', '--timeout-ms', 'soon'], 'must be a whole number'],
    [['call', 'http://localhost/', '--header', 'x'], 'must be name:value'],
    [['call', 'http://localhost/', '--revision', '2020-01-01'], 'Unknown revision: "2020-01-01"'],
    [['call', 'http://localhost/', '--nope'], "Unknown option '--nope'"],
    [['complete', 'http://localhost/'], 'Specify a prompt or a resource template'],
    [['complete', 'http://localhost/', 'x'], 'Specify an argument to complete'],
    [['complete', 'http://localhost/', 'x', 'city'], '"city" is not of the form name=value'],
    [['call', 'http://localhost/', '--timeout-ms', ''], 'must be a whole number'],
    [['call', 'http://localhost/', '--timeout-ms', '0'], 'must be a whole number'],
    [['call', 'http://localhost/', '--header', 'x y: z'], 'is not a valid HTTP header'],
    [['call', 'http://localhost/', '--header', 'x: a\nb: c'], 'is not a valid HTTP header'],
    [
      ['call', 'http://localhost/', '--token', '😀'],
      'characters that are not allowed in an HTTP header',
    ],
    [['bridge', 'http://localhost/', '--port', '70000'], 'must be a whole number from 0 to 65535'],
    [['bridge', 'http://localhost/', 'tools'], 'Unexpected argument: "tools"'],
    [['inspect', 'http://localhost/', 'tools'], 'Unexpected argument: "tools"'],
    [['listen', 'http://localhost/', 'tools'], 'Unexpected argument: "tools"'],
    [['list', 'http://localhost/', '--port', '1'], '"list" does not support "--port"'],
    [['new', 'node', 'x', '--json'], '"new" does not support "--json"'],
    [['list', 'http://ada:secret@localhost/mcp'], 'A URL must not contain credentials'],
    [['call', 'http://localhost/', '--timeout-ms', '-5'], 'argument is ambiguous. See'],
    [['list', '--'], 'A program must follow "--"'],
    [
      ['bridge', 'http://localhost/', '--port', '0', '--path', 'mcp'],
      'must be a path such as "/mcp"',
    ],
  ])('such as %j exits with 2 and names the error', async (words, reason) => {
    const { code, out, err } = await command(...words)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(reason)
    const [name] = words
    expect(err).toContain(`See edgewise ${name === 'nope' ? '' : `${name} `}--help`)
  })
})
