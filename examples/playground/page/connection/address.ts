/**
 * The form with the address and the revision of a server, and the button that connects, cancels,
 * disconnects or reconnects.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
 */
import { el, find } from '../dom.ts'
import { settingsOf } from '../settings/settings.ts'
import type { Workspace } from '../workspace.ts'

/** The delay until the button to cancel connecting is shown, in milliseconds. */
const PATIENCE_MS = 300

/** The revisions to choose from. The first view only shows “Auto revision”. */
const revisions = {
  'Modern, stateless': ['2026-07-28'],
  'Legacy, with sessions': ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'],
}

/** What the user has to enter. */
const EXPECTED = 'a URL or a domain, such as https://example.com/mcp or example.com'

/** The form, which shows one workspace. */
export interface AddressForm {
  show(workspace: Workspace): void
  /** Returns the valid address and revision in the form; `undefined` if the address is invalid. */
  current(): { readonly url: string; readonly revision: string } | undefined
  /** Connects to another address with a revision. */
  open(url: string, revision: string): void
  focus(): void
}

/** A URL without its scheme, whose path tells it from a domain. */
const NO_SCHEME = /^[\w.-]+(:\d+)?\/\S*$/
/** What is reached without TLS. */
const LOOPBACK = /^(?:localhost|127\.0\.0\.1)[:/]/

/**
 * Sets up the form.
 *
 * @param onOther Called before the page connects to another address.
 */
export function setUpAddress(onOther: () => void): AddressForm {
  const form = find('connect', HTMLFormElement)
  const address = find('endpoint', HTMLInputElement)
  address.placeholder = 'https://example.com/mcp'
  const revision = find('revision', HTMLSelectElement)
  for (const [label, versions] of Object.entries(revisions)) {
    const options = versions.map((version) => el('option', { value: version }, version))
    revision.append(el('optgroup', { label }, ...options))
  }
  const button = find('open', HTMLButtonElement)
  const problem = find('endpoint-problem', HTMLElement)
  const edit = find('edit', HTMLButtonElement)
  /** The addresses that were typed but not opened. */
  const drafts = new WeakMap<Workspace, string>()
  let shown: Workspace | undefined
  let stop = (): void => {}
  let timer: ReturnType<typeof setTimeout> | undefined
  let action = (): void => {}

  const isChanged = (): boolean => address.value !== shown?.settings.get().url

  /** Sets what the button does. The button that submits the form is the main one. */
  function setButton(label: string, onclick?: () => void): void {
    button.textContent = label
    button.type = onclick ? 'button' : 'submit'
    button.classList.toggle('primary', label !== 'Disconnect' && label !== 'Cancel')
    action = onclick ?? (() => {})
  }

  function update(workspace: Workspace): void {
    clearTimeout(timer)
    const { state } = workspace.status.get()
    const cancel = (): void => workspace.cancel()
    const isBusy = state === 'connecting' || state === 'sign-in'
    if (isBusy) {
      // Most connections are open before a user could read the button
      if (button.textContent !== 'Cancel')
        timer = setTimeout(setButton, PATIENCE_MS, 'Cancel', cancel)
    } else if (isChanged() || state === 'idle') setButton('Connect')
    else if (state === 'failed') setButton(workspace.connection ? 'Reconnect' : 'Connect')
    else if (state === 'lost') setButton('Reconnect now', () => workspace.retry())
    else setButton('Disconnect', () => void workspace.disconnect())
  }

  /** Shows the form, or hides it while connected. Only narrow screens hide it. */
  function setEditing(isEditing: boolean): void {
    document.body.toggleAttribute('data-editing', isEditing)
    edit.ariaExpanded = String(isEditing)
  }

  /** Returns whether the address is valid. Adds a missing scheme. An invalid address is marked, with the reason. */
  function check(): boolean {
    const { value } = address
    if (NO_SCHEME.test(value)) address.value = `http${LOOPBACK.test(value) ? '' : 's'}://${value}`
    const { valid, valueMissing } = address.validity
    address.ariaInvalid = valid ? null : 'true'
    problem.hidden = valid
    problem.textContent = `${valueMissing ? 'Enter' : 'This is not an address: enter'} ${EXPECTED}`
    if (valid) return true
    address.focus()
    // Why the address before could not be opened does not matter to this one
    if (shown && !shown.connection && shown.status.get().state === 'failed') {
      shown.status.set({ state: 'idle', text: 'Not connected' })
    }
    return false
  }

  function open(url: string, chosen: string): void {
    if (!shown) return
    setEditing(false)
    const { settings } = shown
    const before = settings.get()
    drafts.delete(shown)
    address.value = url
    if (before.url !== url) onOther()
    settings.set(before.url === url ? { ...before, revision: chosen } : settingsOf(url, chosen))
    void shown.connect()
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault()
    if (check()) open(address.value, revision.value)
  })
  button.addEventListener('click', (event) => {
    if (button.type === 'submit') return
    // Otherwise the form would be submitted, as the button's type changes before the default action
    event.preventDefault()
    action()
  })
  edit.addEventListener('click', () => setEditing(edit.ariaExpanded !== 'true'))
  address.addEventListener('input', () => {
    if (!shown) return
    drafts.set(shown, address.value)
    if (address.validity.valid) check()
    update(shown)
  })
  revision.addEventListener('change', () => {
    if (shown && !isChanged()) shown.change({ revision: revision.value })
  })

  return {
    show(workspace) {
      stop()
      shown = workspace
      const { url, revision: chosen } = workspace.settings.get()
      address.value = drafts.get(workspace) ?? url
      address.ariaInvalid = null
      problem.hidden = true
      revision.value = chosen
      const stopSettings = workspace.settings.subscribe((settings) => {
        if (!drafts.has(workspace)) address.value = settings.url
        revision.value = settings.revision
      })
      const stopStatus = workspace.status.subscribe(() => update(workspace))
      stop = () => {
        stopSettings()
        stopStatus()
      }
      setButton('Connect')
      update(workspace)
    },
    current: () => (check() ? { url: address.value, revision: revision.value } : undefined),
    open,
    focus: () => address.focus(),
  }
}
