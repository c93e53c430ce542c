import { describe, expect, it } from 'vitest'
import { expandUriTemplate } from '../../src/server/features/uri-expand.ts'
import { uriTemplate } from '../../src/server/features/uri-template.ts'

const match = (template: string, uri: string) => {
  const values = uriTemplate(template).match(uri)
  return values && { ...values }
}

describe('expandUriTemplate', () => {
  // RFC 6570, sections 1.2 and 3.2.
  const values = {
    count: ['one', 'two', 'three'],
    dom: ['example', 'com'],
    hello: 'Hello World!',
    half: '50%',
    var: 'value',
    who: 'fred',
    base: 'http://example.com/home/',
    path: '/foo/bar',
    list: ['red', 'green', 'blue'],
    v: '6',
    x: '1024',
    y: '768',
    empty: '',
    none: [],
    undef: undefined,
  }

  it.each([
    ['{var}', 'value'],
    ['{hello}', 'Hello%20World%21'],
    ['{half}', '50%25'],
    ['O{empty}X', 'OX'],
    ['O{undef}X', 'OX'],
    ['O{none}X', 'OX'],
    ['{x,y}', '1024,768'],
    ['{x,hello,y}', '1024,Hello%20World%21,768'],
    ['?{x,empty}', '?1024,'],
    ['?{x,undef}', '?1024'],
    ['?{undef,y}', '?768'],
    ['{list}', 'red,green,blue'],
    ['{list*}', 'red,green,blue'],
    ['{+var}', 'value'],
    ['{+hello}', 'Hello%20World!'],
    ['{+half}', '50%25'],
    ['{base}index', 'http%3A%2F%2Fexample.com%2Fhome%2Findex'],
    ['{+base}index', 'http://example.com/home/index'],
    ['O{+empty}X', 'OX'],
    ['{+path}/here', '/foo/bar/here'],
    ['here?ref={+path}', 'here?ref=/foo/bar'],
    ['{+x,hello,y}', '1024,Hello%20World!,768'],
    ['{+path,x}/here', '/foo/bar,1024/here'],
    ['{+list*}', 'red,green,blue'],
    ['{#var}', '#value'],
    ['{#hello}', '#Hello%20World!'],
    ['{#half}', '#50%25'],
    ['foo{#empty}', 'foo#'],
    ['foo{#undef}', 'foo'],
    ['{#x,hello,y}', '#1024,Hello%20World!,768'],
    ['{.who}', '.fred'],
    ['{.half,who}', '.50%25.fred'],
    ['www{.dom*}', 'www.example.com'],
    ['X{.empty}', 'X.'],
    ['X{.undef}', 'X'],
    ['X{.list}', 'X.red,green,blue'],
    ['X{.list*}', 'X.red.green.blue'],
    ['{/who}', '/fred'],
    ['{/who,x}', '/fred/1024'],
    ['{/half,who}', '/50%25/fred'],
    ['{/var,empty}', '/value/'],
    ['{/var,undef}', '/value'],
    ['{/list}', '/red,green,blue'],
    ['{/list*}', '/red/green/blue'],
    ['{;who}', ';who=fred'],
    ['{;half}', ';half=50%25'],
    ['{;empty}', ';empty'],
    ['{;v,empty,who}', ';v=6;empty;who=fred'],
    ['{;v,undef,who}', ';v=6;who=fred'],
    ['{;list}', ';list=red,green,blue'],
    ['{?who}', '?who=fred'],
    ['{?half}', '?half=50%25'],
    ['{?x,y}', '?x=1024&y=768'],
    ['{?x,y,empty}', '?x=1024&y=768&empty='],
    ['{?x,y,undef}', '?x=1024&y=768'],
    ['{?undef}', ''],
    ['{?list}', '?list=red,green,blue'],
    ['{?list*}', '?list=red&list=green&list=blue'],
    ['{&who}', '&who=fred'],
    ['?fixed=yes{&x}', '?fixed=yes&x=1024'],
    ['{&x,y,empty}', '&x=1024&y=768&empty='],
    ['{&list*}', '&list=red&list=green&list=blue'],
  ])('fills %s in as %s', (template, uri) => {
    expect(expandUriTemplate(template, values)).toBe(uri)
  })

  it('keeps percent-escapes in reserved values and escapes characters that no URI allows', () => {
    expect(expandUriTemplate('{+v}', { v: 'a%2Fb%é "世"' })).toBe(
      'a%2Fb%25%C3%A9%20%22%E4%B8%96%22',
    )
  })

  it('reads no value from the prototype of the values', () => {
    expect(expandUriTemplate('x{?constructor,__proto__}', {})).toBe('x')
  })
})

describe('UriTemplate.match', () => {
  it.each([
    ['file:///notes.txt', 'file:///notes.txt', {}],
    ['users/{id}', 'users/7', { id: '7' }],
    ['users/{id}/posts/{post}', 'users/7/posts/a-b', { id: '7', post: 'a-b' }],
    ['{name}.json', 'a.json.json', { name: 'a.json' }],
    ['{name}.{ext}', 'a.tar.gz', { name: 'a', ext: 'tar.gz' }],
    ['geo:{lat},{lng}', 'geo:48.2,16.3', { lat: '48.2', lng: '16.3' }],
    ['{x,y}', '1024,768', { x: '1024', y: '768' }],
    ['{x,y}', '1024', { x: '1024' }],
    ['file://{+path}', 'file:///a/b.txt', { path: '/a/b.txt' }],
    ['{+dir}/{file}', '/a/b/c.txt', { dir: '/a/b', file: 'c.txt' }],
    ['{+path}{?q}', 'a/b?q=1', { path: 'a/b', q: '1' }],
    ['{+path}{?q}', 'a/b', { path: 'a/b' }],
    ['doc{#part}', 'doc#a/b', { part: 'a/b' }],
    ['doc{#part}', 'doc', {}],
    ['{name}{.format}', 'report.pdf', { name: 'report', format: 'pdf' }],
    ['{name}{.format}', 'report', { name: 'report' }],
    ['www{.dom*}', 'www.example.com', { dom: ['example', 'com'] }],
    ['repo{/owner,name}', 'repo/ada/engine', { owner: 'ada', name: 'engine' }],
    ['repo{/owner,name}', 'repo/ada', { owner: 'ada' }],
    ['repo{/owner,name}', 'repo', {}],
    ['repo{/path*}', 'repo/src/server/index.ts', { path: ['src', 'server', 'index.ts'] }],
    ['repo{/path*}/tree', 'repo/a/b/tree', { path: ['a', 'b'] }],
    ['{list*}', 'red,green,blue', { list: ['red', 'green', 'blue'] }],
    ['map{;x,y}', 'map;x=1;y=2', { x: '1', y: '2' }],
    ['map{;x,y}', 'map;y=2', { y: '2' }],
    ['search{?q,page}', 'search?page=2&q=mcp', { q: 'mcp', page: '2' }],
    ['search{?q,page}', 'search?page=2', { page: '2' }],
    ['search{?q,page}', 'search', {}],
    ['search{?q}', 'search?q=a=b', { q: 'a=b' }],
    ['search{?q}', 'search?q=', { q: '' }],
    ['search{?q}{&page}', 'search?page=2&q=mcp', { q: 'mcp', page: '2' }],
    ['search?kind=a{&q,page}', 'search?kind=a&page=2&q=mcp', { q: 'mcp', page: '2' }],
    ['search?q={q}{&page}', 'search?q=mcp&page=2', { q: 'mcp', page: '2' }],
    ['search{?tag*}', 'search?tag=a&tag=b', { tag: ['a', 'b'] }],
    ['greet://{name}', 'greet://世界', { name: '世界' }],
    ['greet://{name}', 'greet://%E4%B8%96%E7%95%8C', { name: '世界' }],
    ['grüße/{name}', 'gr%C3%BC%C3%9Fe/a', { name: 'a' }],
    ['file/{name}', 'file/..%2F..%2Fsecret', { name: '../../secret' }],
    ['file/{name}', 'file/a%252Fb', { name: 'a%2Fb' }],
  ])('reads %s from %s [L-RES-013] [M-RES-006]', (template, uri, values) => {
    expect(match(template, uri)).toEqual(values)
  })

  it.each([
    ['file:///notes.txt', 'file:///notes.txt2'],
    ['file:///notes.txt', 'file:///NOTES.txt'],
    ['users/{id}', 'users/'],
    ['users/{id}', 'users/7/posts'],
    ['users/{id}', 'users/7?x=1'],
    ['users/{id}', 'users/7#x'],
    ['users/{id}', 'admin/users/7'],
    ['users/{id}/posts', 'users/7/post'],
    ['{name}.json', '.json'],
    ['repo{/owner,name}', 'repo/a/b/c'],
    ['search{?q}', 'search?page=2'],
    ['search{?q}', 'search?q=1&q=2'],
    ['repo{/path*}{?q}', 'repo/a?path=b'],
    ['search{?q}', 'search?q=1#x'],
    ['search{?q}', 'search?q=%zz'],
    ['file/{name}', 'file/%'],
    ['file/{name}', 'file/%c3%28'],
    ['file/{name}', 'file/\ud800'],
    ['file/{name}', ''],
  ])('finds %s not in %s [L-RES-013] [M-RES-006]', (template, uri) => {
    expect(match(template, uri)).toBeUndefined()
  })

  it('treats names such as __proto__ as plain data [L-RES-013] [M-RES-006]', () => {
    const template = uriTemplate('x/{__proto__}{?constructor,toString}')
    const values = template.match('x/evil?constructor=a')

    expect(Object.getPrototypeOf(values)).toBeNull()
    expect(Object.entries(values ?? {})).toEqual([
      ['__proto__', 'evil'],
      ['constructor', 'a'],
    ])
    expect(template.match('x/evil?toString=1&hasOwnProperty=2')).toBeUndefined()
  })

  it('matches deliberately ambiguous text in linear time [L-RES-013] [M-RES-006]', () => {
    const names = Array.from({ length: 30 }, (_, i) => `{+v${i}}`)
    const template = uriTemplate(`a${names.join('a')}b`)

    // A matcher that turns back would try more than 10^60 ways here and never end.
    expect(template.match('a'.repeat(4096))).toBeUndefined()
    expect(template.match(`${'a'.repeat(4096)}b`)).toMatchObject({ v0: 'a' })
  })

  it('refuses a URI of more than 8,192 characters [L-RES-013] [M-RES-006]', () => {
    const template = uriTemplate('x/{+rest}')

    expect(template.match(`x/${'a'.repeat(8190)}`)).toBeDefined()
    expect(template.match(`x/${'a'.repeat(8191)}`)).toBeUndefined()
    expect(template.match(`x/${'世'.repeat(4000)}`)).toBeUndefined()
  })
})

describe('uriTemplate', () => {
  it('names the variables in order', () => {
    const template = uriTemplate('{a}/{+b,c}{/d*}{?e,f}{&g}')

    expect(template.variables).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g'])
  })

  it.each([
    ['a/{b', 'a brace is unbalanced'],
    ['a/b}', 'a brace is unbalanced'],
    ['a/{b{c}}', 'a brace is unbalanced'],
    ['a/{}', '"" in "{}" is not a variable'],
    ['a/{b,}', '"" in "{b,}" is not a variable'],
    ['a/{b c}', '"b c" in "{b c}" is not a variable'],
    ['a/{user-id}', '"user-id" in "{user-id}" is not a variable'],
    ['a/{.}', '"" in "{.}" is not a variable'],
    ['a/{b:3}', '"b:3" in "{b:3}" is not a variable'],
    ['a/{=b}', '"=" in "{=b}" is not an operator'],
    ['a/{!b}', '"!" in "{!b}" is not an operator'],
    ['a/{|b}', '"|" in "{|b}" is not an operator'],
    ['{a}/{a}', 'variable "a" is repeated'],
    ['{?a}/b', 'only "{&…}" can follow a query'],
    ['{?a}{b}', 'only "{&…}" can follow a query'],
    ['{?a}{?b}', 'only "{&…}" can follow a query'],
    ['{;a*}', '"*" in "{;a*}" is not supported'],
    ['a\ud800', 'it is not well-formed Unicode'],
    [Array.from({ length: 33 }, (_, i) => `{v${i}}`).join('/'), 'it has more than 32 variables'],
  ])('rejects %s, because %s [M-RES-005]', (template, reason) => {
    expect(() => uriTemplate(template)).toThrow(
      expect.objectContaining({
        code: 'INVALID_USE',
        message: expect.stringContaining(`Cannot compile URI template "${template}": ${reason}`),
      }),
    )
  })
})
