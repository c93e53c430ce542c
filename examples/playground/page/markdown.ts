/**
 * Renders Markdown of a server. The result contains only harmless elements, and loads nothing.
 *
 * @see https://github.com/cure53/DOMPurify
 */
import DOMPurify from 'dompurify'
import { Marked } from 'marked'
import { el } from './dom.ts'

const tags =
  'h1 h2 h3 h4 h5 h6 p br hr ul ol li blockquote pre code em strong del s sub sup kbd a table thead tbody tr th td'
const attributes = ['href', 'align', 'start']

/**
 * How many characters may be searched for the ends of emphasis and comments. Each search may read the rest of a
 * paragraph, so the time would otherwise be quadratic in the length of the paragraph. The text beyond the limit
 * is shown as it is.
 */
const MAX_SEARCHED = 5_000_000
/** Shorter searches take too little time to count. */
const MIN_SEARCHED = 500
let searched = 0

/** Counts a search. Returns whether it exceeds the limit. */
function isLimited(text: string): boolean {
  searched += Math.max(0, text.length - MIN_SEARCHED)
  return searched > MAX_SEARCHED
}

const marked = new Marked({
  tokenizer: {
    // `false` means that Marked looks for the token, `undefined` that there is none
    emStrong: (text) => (/^[*_]/.test(text) && isLimited(text) ? undefined : false),
    tag: (text) => (/^<[!?]/.test(text) && isLimited(text) ? undefined : false),
    inlineText: (text) =>
      searched > MAX_SEARCHED && { type: 'text', raw: text, text, escaped: false },
  },
  renderer: {
    // The page must not request images of other sites, because that would reveal its user to them
    image: ({ href, text }) => `<a href="${escapeHtml(href)}">${escapeHtml(text || href)}</a>`,
  },
})

/** Renders Markdown. */
export function renderMarkdown(text: string): HTMLElement {
  searched = 0
  const html = marked.parse(text, { async: false })
  const content = DOMPurify.sanitize(html, {
    ALLOWED_TAGS: tags.split(' '),
    ALLOWED_ATTR: attributes,
    ALLOW_ARIA_ATTR: false,
    ALLOW_DATA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  })
  const block = el('div', { class: 'markdown' }, content)
  for (const link of block.querySelectorAll('a')) openElsewhere(link)
  // Wide content can be scrolled, also by keyboard
  for (const wide of block.querySelectorAll('pre, table')) {
    const scroller = el('div', { class: 'wide', tabindex: 0, role: 'group', 'aria-label': 'Wide' })
    scroller.ariaLabel = wide.localName === 'pre' ? 'Code' : 'Table'
    wide.replaceWith(scroller)
    scroller.append(wide)
  }
  nestHeadings(block)
  return block
}

/** Opens a link in another tab. Links of other schemes and fragments become text, because they could change this page. */
function openElsewhere(link: HTMLAnchorElement): void {
  if (/^(?:https?|mailto):/i.test(link.getAttribute('href') ?? '')) {
    link.target = '_blank'
    link.rel = 'noreferrer noopener'
  } else link.replaceWith(...link.childNodes)
}

/** Makes the headings those of a section of the page, whose title is the only `h1`. */
function nestHeadings(block: HTMLElement): void {
  let previous = 1
  for (const heading of block.querySelectorAll('h1, h2, h3, h4, h5, h6')) {
    const level = Math.min(Number(heading.localName.slice(1)) + 1, previous + 1, 6)
    const nested = document.createElement(`h${level}`)
    nested.append(...heading.childNodes)
    heading.replaceWith(nested)
    previous = level
  }
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
