/**
 * The dialog that shows a request as a program, a command or the configuration of a host, to be copied.
 *
 * @see https://www.w3.org/WAI/ARIA/apg/patterns/dialog-modal/
 */
import { expandUriTemplate, isObject, type JsonObject } from 'edgewise/browser'
import { alternatives } from '../alternatives.ts'
import { nameOf } from '../connection/connection.ts'
import { copyButton } from '../copy.ts'
import { breakable, el, newId } from '../dom.ts'
import { textsOf } from '../form/arguments.ts'
import type { CallTarget } from '../history/calls.ts'
import { maskSecrets, omitSecrets } from '../history/examples.ts'
import { jsonBlock, tryParse } from '../json.ts'
import { isSecretName, variableOf } from '../secrets.ts'
import { readStored, writeStored } from '../storage.ts'
import type { Workspace } from '../workspace.ts'
import type { Operation, ServerAddress } from './operation.ts'
import { snippetsOf, type Snippet } from './snippets.ts'

/** The key under which the last choice is stored. */
const STORAGE_KEY = 'copy as'

/** The number of forms of a call: a program, two commands and a link. */
const CALL_FORMS = 4

/** Opens the dialog. Without a call, it shows only configurations of hosts. */
export function openCopyAs(workspace: Workspace, call?: CallTarget, schema?: JsonObject): void {
  const { kept, omitted } = maskSecrets(call?.arguments ?? {}, schema)
  const include = el('input', { type: 'checkbox' })
  /** The forms, with the secret arguments only if the user includes them. */
  function make(): Snippet[] {
    const shown = call && (include.checked ? call : { ...call, arguments: kept })
    const all = snippetsOf(addressOf(workspace), shown && operationOf(shown, schema), platform())
    if (omitted.length > 0 && !include.checked) {
      for (const { notes } of all.slice(0, CALL_FORMS - 1)) notes.push(maskNote(omitted))
    }
    if (call) all.splice(CALL_FORMS - 1, 0, linkSnippet(workspace, call, schema))
    return all
  }
  const snippets = make()
  const places = snippets.map(({ label }) => ({ label, place: el('div') }))
  const draw = (): void => {
    for (const [index, snippet] of make().entries()) {
      places[index]?.place.replaceChildren(...snippetNodes(snippet))
    }
  }
  draw()
  include.addEventListener('change', draw)
  const names = omitted.join(', ')
  const includeLabel = el('label', { class: 'include' }, include, `Include the value of ${names}`)
  /** Shows the checkbox with the forms that contain the arguments. A link never contains secrets. */
  const showInclude = (index: number): void => {
    includeLabel.hidden = omitted.length === 0 || index >= CALL_FORMS - 1
  }
  const last = snippets.findIndex(({ id }) => id === readStored(STORAGE_KEY))
  const first = Math.max(last, 0)
  const { buttons, body } = alternatives(
    'Format',
    places.map(({ label, place }) => ({ label, make: () => place })),
    first,
    (index) => {
      writeStored(STORAGE_KEY, snippets[index]?.id ?? '')
      showInclude(index)
    },
  )
  showInclude(first)
  // The first ones are about the call, the others about the server
  const forms = [...buttons.children]
  const hosts = group('This server', forms.slice(call ? CALL_FORMS : 0))
  const heading = newId('copy')
  const close = el('button', {}, 'Close')
  const dialog = el(
    'dialog',
    { class: 'copy-as', 'aria-labelledby': heading },
    el(
      'form',
      { method: 'dialog' },
      el('h2', { id: heading }, call ? 'Copy as' : 'Add to a host'),
      call && group('This call', forms.slice(0, CALL_FORMS)),
      hosts,
      body,
      includeLabel,
      el('footer', {}, close),
    ),
  )
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
}

function group(title: string, buttons: readonly Element[]): HTMLElement {
  const id = newId('group')
  return el(
    'div',
    { class: 'forms' },
    el('span', { class: 'note', id }, title),
    el('div', { class: 'segments', role: 'group', 'aria-labelledby': id }, ...buttons),
  )
}

/** Says which names in capitals stand for secret arguments. */
function maskNote(omitted: readonly string[]): string {
  const names = new Set(omitted.map((path) => variableOf(path.replace(/^.*\./, ''))))
  return `Replace ${[...names].join(', ')} with the actual value.`
}

function snippetNodes({ label, text, notes }: Snippet): HTMLElement[] {
  const value = tryParse(text)
  return [
    el(
      'div',
      { class: 'snippet' },
      copyButton(`Copy ${label}`, () => text, 'Copy'),
      isObject(value)
        ? jsonBlock(value, label)
        : el('pre', { tabindex: 0, role: 'group', 'aria-label': label }, el('code', {}, text)),
    ),
    ...notes.map((each) => el('p', { class: 'note' }, ...breakable(each))),
  ]
}

/** The link that fills the form, without secrets. */
function linkSnippet(
  workspace: Workspace,
  { kind, key, arguments: values }: CallTarget,
  schema?: JsonObject,
): Snippet {
  const { kept, omitted } = omitSecrets(values, schema)
  const notes = ['It opens this page and fills the form. It sends nothing.']
  if (omitted.length > 0) notes.push(`It does not contain ${omitted.join(', ')}.`)
  return {
    id: 'link',
    label: 'Link',
    text: workspace.linkTo({ kind, key, arguments: kept }),
    notes,
  }
}

function operationOf({ kind, key, arguments: values }: CallTarget, schema?: JsonObject): Operation {
  switch (kind) {
    case 'tool': {
      const inputSchema = schema && { inputSchema: schema }
      return { method: 'tools/call', name: key, arguments: values, ...inputSchema }
    }
    case 'prompt':
      return { method: 'prompts/get', name: key, arguments: values }
    case 'template':
      return { method: 'resources/read', uri: expandUriTemplate(key, textsOf(values)) }
    default:
      return { method: 'resources/read', uri: key }
  }
}

function addressOf({ connection, settings, client }: Workspace): ServerAddress {
  const { url, revision, headers, token } = settings.get()
  const named = headers.filter(({ name }) => name !== '')
  const isSignedIn = connection?.signedIn === true && token === ''
  return {
    url: withoutSecretValues(connection?.url ?? url),
    name: client.serverInfo?.name ?? nameOf(client),
    revision: client.revision,
    isPinned: revision !== 'auto',
    headerNames: named.map(({ name }) => name).filter((name) => !/^authorization$/i.test(name)),
    access:
      token !== '' || named.some(({ name }) => /^authorization$/i.test(name))
        ? 'token'
        : isSignedIn
          ? 'sign-in'
          : 'none',
  }
}

/** Replaces the values of query parameters that may be secrets. Without them, the address would be wrong. */
function withoutSecretValues(address: string): string {
  if (!URL.canParse(address)) return address
  const url = new URL(address)
  url.username = url.password = ''
  for (const name of new Set(url.searchParams.keys())) {
    if (isSecretName(name)) url.searchParams.set(name, name.toUpperCase())
  }
  return url.href
}

function platform(): 'darwin' | 'linux' | 'win32' {
  if (navigator.userAgent.includes('Windows')) return 'win32'
  return navigator.userAgent.includes('Mac') ? 'darwin' : 'linux'
}
