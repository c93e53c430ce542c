// What an application's bundler takes along. Weights are `npm run size`.
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { budgets, bundle, ingredients } from '../../bench/size.ts'
import { root } from '../root.ts'

describe('Bundles of the package', () => {
  it.each([...budgets])(
    'have nothing that its sources would leave out: $name',
    async ({ code }) => {
      const bytesOf = async (from: 'sources' | 'package'): Promise<number> =>
        (await ingredients(code, from)).reduce((sum, [, bytes]) => sum + bytes, 0)
      expect(await bytesOf('package')).toBeLessThanOrEqual(await bytesOf('sources'))
    },
  )
})

describe('Bundle of the client', () => {
  it('has no server, no schema library, no validator and no authorization', async () => {
    const files = await ingredients(`export { connect } from 'edgewise/client'`)
    const paths = files.map(([path]) => path)
    expect(paths).toContain('src/client/client.ts')
    expect(
      paths.filter((path) =>
        /src\/(server|session|tasks|authorization|protected-resource)\/|zod|json-schema|jose|oauth4webapi/.test(
          path,
        ),
      ),
    ).toEqual([])
  })
})

describe('The code that a client loads on demand', () => {
  const onDemand = [
    'src/client/features/changes.ts',
    'src/client/features/elicitation.ts',
    'src/client/features/handled-capabilities.ts',
    'src/client/features/input-handlers.ts',
    'src/client/features/input.ts',
    'src/client/features/interaction.ts',
    'src/client/features/listen.ts',
    'src/client/features/notification-queue.ts',
    'src/client/features/roots.ts',
    'src/client/features/subscriptions.ts',
    'src/connect/on-demand.ts',
    'src/connect/open-duplex.ts',
    'src/connect/transport-target.ts',
    'src/protocol/degrade-client-result.ts',
    'src/protocol/sampling.ts',
    'src/transport/duplex-channel.ts',
    'src/transport/http-sse/client.ts',
    'src/transport/streamable-http/standalone-stream.ts',
  ]

  it.each<[string, readonly string[]]>([
    ['client', []],
    ['browser', ['runtimes/browser/slot-channel.ts', 'runtimes/browser/stream-slots.ts']],
    ['client/tiny', []],
  ])('is not in the files that edgewise/%s loads at the start', async (entry, more) => {
    const files = await ingredients(`export { connect } from 'edgewise/${entry}'`)
    const paths = files.flatMap(([path, , isOnDemand]) => (isOnDemand ? [path] : []))
    expect(paths.filter((path) => !path.includes('patterns')).sort()).toEqual(
      entry === 'client/tiny' ? [] : [...more, ...onDemand].sort(),
    )
  })
})

describe('Bundles without an observer', () => {
  it('have nothing of observers and of OpenTelemetry', async () => {
    const found = async (code: string): Promise<string[]> => {
      const paths = (await ingredients(code)).map(([path]) => path)
      return paths.filter((path) => /observ|opentelemetry/.test(path))
    }
    const observed = `export { createServer, serverObserver } from 'edgewise/server'`
    expect(await found(observed)).toContain('src/server/observer.ts')
    const server = `export { createServer, createHandler } from 'edgewise/server'`
    const client = `export { connect } from 'edgewise/client'`
    expect(await Promise.all([found(server), found(client)])).toEqual([[], []])
  })
})

describe('Bundle of the tiny client', () => {
  const pathsOf = async (entry: string): Promise<string[]> =>
    (await ingredients(`export { connect } from '${entry}'`)).map(([path]) => path)

  it.each(['edgewise/client', 'edgewise/browser'])(
    'of %s/tiny contains what all clients need, without input handlers, listening or other transports',
    async (entry) => {
      const inPage = entry === 'edgewise/browser'
      const tiny = await pathsOf(`${entry}/tiny`)
      const full = await pathsOf(entry)
      const own = [
        'src/client/features/no-input-handlers.ts',
        'src/client/features/page-walker.ts',
        'src/presets/client-tiny.ts',
      ]
      if (inPage) own.unshift('runtimes/browser/tiny.ts')
      expect(tiny.filter((path) => !full.includes(path)).sort()).toEqual(own)
      const features = [
        'changes',
        'check-output',
        'elicitation',
        'handled-capabilities',
        'input-handlers',
        'input',
        'interaction-on-demand',
        'interaction',
        'listen',
        'notification-queue',
      ]
      const left = [
        ...[...features, 'roots', 'stale-results', 'stream-notifications', 'subscriptions'].map(
          (name) => `src/client/features/${name}.ts`,
        ),
        'src/client/cache.ts',
        'src/client/client.ts',
        'src/client/uri-scope.ts',
        'src/connect/load-on-demand.ts',
        'src/connect/on-demand.ts',
        'src/connect/open-duplex.ts',
        'src/connect/transport-target.ts',
        'src/connect/cached-http-target.ts',
        'src/patterns/pages.ts',
        'src/patterns/reopen.ts',
        'src/patterns/semaphore.ts',
        'src/presets/client.ts',
        'src/protocol/degrade-client-result.ts',
        'src/protocol/sampling.ts',
        'src/protocol/transport.ts',
        'src/transport/duplex-channel.ts',
        'src/transport/http-sse/client.ts',
        'src/transport/http/sign-in-watch.ts',
        'src/transport/streamable-http/listening-channel.ts',
        'src/transport/streamable-http/standalone-stream.ts',
      ]
      const page = ['connect', 'page-fetch', 'stream-slots', 'slot-channel']
      if (inPage) left.push(...page.map((name) => `runtimes/browser/${name}.ts`))
      expect(full.filter((path) => !tiny.includes(path)).sort()).toEqual(left.sort())
    },
  )

  it('has none of it as it is published either', async () => {
    const words = /createMessage|elicitation\/create|roots\/list|listChanged|acknowledged/g
    const found = async (entry: string): Promise<string[]> =>
      (await bundle(`export { connect } from '${entry}'`)).match(words) ?? []
    expect(await found('edgewise/client')).not.toEqual([])
    expect(await found('edgewise/client/tiny')).toEqual([])
  })
})

describe('Options of the tiny client that bring code', () => {
  it.each(['client/tiny', 'browser/tiny'])(
    'are not in the bundle of edgewise/%s without them',
    async (entry) => {
      const paths = (await ingredients(`export { connect } from 'edgewise/${entry}'`)).map(
        ([path]) => path,
      )
      expect(paths).toContain('src/client/connection.ts')
      expect(paths).not.toContain('src/transport/http-sse/client.ts')
      expect(paths).not.toContain('src/client/cache.ts')
    },
  )
})

describe('Bundle of a page', () => {
  const others =
    /src\/(server|session|sqlite|tasks|authorization|json-schema)\/|zod|jose|oauth4webapi/

  it('that connects contains the client and the page events, and neither ports nor hooks', async () => {
    const files = await ingredients(`export { connect } from 'edgewise/browser'`)
    const paths = files.map(([path]) => path)
    expect(paths.filter((path) => others.test(path))).toEqual([])
    expect(paths.filter((path) => path.includes('runtimes/')).sort()).toEqual([
      'runtimes/browser/connect.ts',
      'runtimes/browser/fetch-fault.ts',
      'runtimes/browser/page-fetch.ts',
      'runtimes/browser/page-url.ts',
      'runtimes/browser/slot-channel.ts',
      'runtimes/browser/stream-slots.ts',
    ])
    expect(paths.filter((path) => /reconnecting|\/(open-)?port-|message-port/.test(path))).toEqual(
      [],
    )
  })

  it('that observes a connection in React has no server and no ports', async () => {
    const files = await ingredients(`export { useMcp } from 'edgewise/react'`)
    const paths = files.map(([path]) => path)
    expect(paths).toContain('src/connect/reconnecting-client.ts')
    expect(paths.filter((path) => others.test(path) || /message-port/.test(path))).toEqual([])
  })

  it('that talks over a port has neither client nor server', async () => {
    const files = await ingredients(`export { messagePortTransport } from 'edgewise/browser'`)
    const paths = files.map(([path]) => path)
    expect(paths).toContain('src/transport/ports/message-port.ts')
    expect(paths.filter((path) => others.test(path) || /client|fetch/.test(path))).toEqual([])
  })

  it('that serves its frames has no client and no schema library', async () => {
    const files = await ingredients(`export { servePorts } from 'edgewise/browser'`)
    const paths = files.map(([path]) => path)
    expect(paths).toContain('src/server/serve-transport.ts')
    expect(
      paths.filter((path) => /src\/(client|authorization|json-schema)\/|zod|fetch/.test(path)),
    ).toEqual([])
  })
})

describe('Bundle of sign-in', () => {
  it('has no way of signing in that is not used, and no proofs', async () => {
    const files = await ingredients(`export { signIn } from 'edgewise/authorization'`)
    const paths = files.map(([path]) => path)
    expect(paths).toContain('src/authorization/sign-in.ts')
    const others =
      /src\/(server|session|protected-resource)\/|jose|authorization\/(client-credentials|workload|enterprise|jwt|dpop|loopback|file-tokens)[\w-]*\.ts/
    expect(paths.filter((path) => others.test(path))).toEqual([])
  })
})

describe('Bundle of the server', () => {
  it('has no client and no schema library', async () => {
    const files = await ingredients(`export { createServer, createHandler } from 'edgewise/server'`)
    const paths = files.map(([path]) => path)
    expect(paths).toContain('src/server/definition.ts')
    expect(
      paths.filter((path) =>
        /src\/(client|authorization|protected-resource)\/|zod|json-schema|jose|oauth4webapi/.test(
          path,
        ),
      ),
    ).toEqual([])
  })
})

describe('Bundle of the tiny server', () => {
  const tiny = `export { createServer, createHandler } from 'edgewise/server/tiny'`

  it('contains what tools need, without input requests, sessions or change notifications', async () => {
    const whole = `export { createServer, createHandler } from 'edgewise/server'`
    const [own, all] = await Promise.all(
      [tiny, whole].map(async (code) => (await ingredients(code)).map(([path]) => path)),
    )
    const made = [
      'src/presets/server-tiny.ts',
      'src/server/features/header-params.ts',
      'src/server/request/tiny-request-context.ts',
      'src/server/request/unavailable.ts',
    ]
    expect(own!.filter((path) => !all!.includes(path)).sort()).toEqual(made)
    const others =
      /ask\.ts|resources|prompts|protocol\/header-params|param-headers|round|replay|steps|sealed|elicit|sampling|roots|uri-|templates|subscri|notif|complet|observ|redact|session-record|forward|degrade-(?:form|request)/
    expect(all!.filter((path) => others.test(path)).length).toBeGreaterThan(15)
    expect(own!.filter((path) => others.test(path))).toEqual([])
  })

  it('has none of it as it is published either', async () => {
    const words =
      /createMessage|elicitation\/create|roots\/list|acknowledged|AES-GCM|traceparent|Resource not found|has an invalid message|HTTP token/g
    const found = async (code: string): Promise<string[]> => (await bundle(code)).match(words) ?? []
    const whole = `export { createServer, createHandler, serverObserver } from 'edgewise/server'`
    expect(new Set(await found(whole)).size).toBe(9)
    expect(await found(tiny)).toEqual([])
  })
})

describe('Bundle of a protected server', () => {
  const paths = async (names: string): Promise<string[]> =>
    (await ingredients(`export { ${names} } from 'edgewise/protected-resource'`)).map(
      ([path]) => path,
    )

  it('has the way in which it verifies tokens, and no other', async () => {
    const own = await paths('protectedResource')
    expect(own).toContain('src/protected-resource/protected-resource.ts')
    expect(
      own.filter((path) => /jose|oauth4webapi|src\/(client|authorization)\//.test(path)),
    ).toEqual([])
    const jwt = await paths('protectedResource, jwtTokens')
    expect(jwt.filter((path) => /oauth4webapi|dpop|jwe/.test(path))).toEqual([])
    const introspected = await paths('protectedResource, introspectedTokens')
    expect(introspected.filter((path) => /jose\//.test(path))).toEqual([])
  })
})

describe('Bundle of a Worker that calls another one', () => {
  it('has neither the server nor its objects', async () => {
    const contents = `export { bindingTransport } from 'edgewise/cloudflare'`
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: root },
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
      external: ['cloudflare:*'],
    })
    const text = outputFiles[0]?.text ?? ''
    expect(text).toContain('openConnection')
    // A server has ten times as much
    expect(text.length).toBeLessThan(6_000)
    expect(text).not.toContain('notifications/initialized')
  })
})

describe('Bundles without server cards', () => {
  it.each(['server', 'server/tiny', 'client', 'client/tiny', 'cloudflare', 'node', 'browser'])(
    'contain nothing of them: edgewise/%s [E-CARD-144]',
    async (entry) => {
      const { outputFiles } = await build({
        ...{ bundle: true, write: false, format: 'esm', minify: true, absWorkingDir: root },
        ...{ platform: 'node', external: ['cloudflare:*', 'hono', '@hono/*', 'cross-spawn'] },
        stdin: { contents: `export * from 'edgewise/${entry}'`, resolveDir: root },
      })
      expect(outputFiles[0]?.text).not.toMatch(/server-card|ai-catalog/)
    },
  )
})
