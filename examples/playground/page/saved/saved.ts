/**
 * The list of saved servers. The user can open, rename and remove them, and save the current one.
 *
 * @see https://developer.mozilla.org/docs/Web/API/Popover_API
 */
import { el, find } from '../dom.ts'
import { icon } from '../icon.ts'
import { withoutSecrets } from '../secrets.ts'
import { saveServers, savedServers, type SavedServer } from './store.ts'

/** The distances of the popover from its button and from the edge of the window, in pixels. */
const GAP = 8
const MARGIN = 12

const NOT_STORED = 'This browser does not store them: they last until the page is closed.'

/** The functions of the page that the list uses. */
export interface Page {
  /** Returns the server in the page's address field; `undefined` if its address is invalid. */
  current(): SavedServer | undefined
  open(server: SavedServer): void
  /** Called when the saved servers have changed. */
  onChanged(): void
}

/** Sets up the popover. It is filled each time it opens, because other tabs may have changed the servers. */
export function setUpSaved({ current, open, onChanged }: Page): void {
  const popover = find('saved', HTMLElement)
  const opener = find('saved-open', HTMLButtonElement)
  const list = find('saved-list', HTMLElement)
  const save = find('save', HTMLButtonElement)
  const note = popover.lastElementChild
  const address = find('endpoint', HTMLInputElement)
  const revision = find('revision', HTMLSelectElement)

  function draw(focusOn = -1): void {
    const rows = savedServers().map(row)
    list.replaceChildren(...rows)
    find('saved-none', HTMLElement).hidden = rows.length > 0
    const known = savedServers().find(({ url }) => url === withoutSecrets(address.value))
    const isSame = known?.revision === revision.value
    save.textContent = known ? (isSame ? 'Saved' : 'Update the revision') : 'Save this server'
    save.ariaDisabled = isSame || address.value === '' ? 'true' : null
    if (focusOn >= 0) (rows[focusOn]?.querySelector('button') ?? save).focus()
  }

  function change(index: number, ...replacements: SavedServer[]): void {
    const isStored = saveServers(savedServers().toSpliced(index, 1, ...replacements))
    if (!isStored && note) note.textContent = NOT_STORED
    draw(index)
    onChanged()
  }

  function row(server: SavedServer, index: number): HTMLElement {
    const { name, url } = server
    const pick = el(
      'button',
      {
        type: 'button',
        class: 'quiet',
        onclick() {
          popover.hidePopover()
          open(server)
        },
      },
      el('span', { class: 'title' }, name),
      el('span', { class: 'note' }, url),
    )
    const rename = button('pencil', `Rename ${name}`, () => {
      const input = el('input', { value: name, 'aria-label': 'Name', autocomplete: 'off' })
      input.addEventListener('change', () =>
        change(index, { ...server, name: input.value || name }),
      )
      input.addEventListener('keydown', (event) => {
        if (event.key !== 'Enter' || input.value !== name) return
        // An unchanged value fires no change event
        event.preventDefault()
        draw(index)
      })
      pick.replaceWith(input)
      input.select()
    })
    const remove = button('cross', `Remove ${name}`, () => change(index))
    return el('li', {}, pick, rename, remove)
  }

  save.addEventListener('click', () => {
    const server = save.ariaDisabled ? undefined : current()
    if (!server) return
    const url = withoutSecrets(server.url)
    const servers = savedServers()
    const savedIndex = servers.findIndex((each) => each.url === url)
    // A server that has a name keeps it
    const { name } = servers[savedIndex] ?? server
    change(savedIndex < 0 ? servers.length : savedIndex, { ...server, name, url })
  })
  popover.addEventListener('beforetoggle', () => draw())

  /** Places the popover below its button, inside of the window. Not all browsers have anchors. */
  function place(): void {
    const { bottom, right } = opener.getBoundingClientRect()
    const left = Math.max(MARGIN, right - popover.offsetWidth)
    popover.style.left = `${left}px`
    popover.style.top = `${bottom + GAP}px`
  }
  popover.addEventListener('toggle', place)
  addEventListener('resize', place)
}

function button(glyph: 'pencil' | 'cross', label: string, onclick: () => void): HTMLElement {
  return el(
    'button',
    { type: 'button', class: 'quiet icon', 'aria-label': label, title: label, onclick },
    icon(glyph),
  )
}
