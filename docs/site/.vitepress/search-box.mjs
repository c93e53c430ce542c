// Corrects the roles in the search box of VitePress 1: its box is a button that contains buttons, its results
// are options that contain links, and the icons of its keys have names without a role.

const corrections = [
  ['role="button"', 'role="dialog"'],
  ['aria-expanded="true"', ''],
  ['aria-haspopup="listbox"', ''],
  [`:role="results?.length ? 'listbox' : undefined"`, ''],
  [`:aria-selected="selectedIndex === index ? 'true' : 'false'"`, ''],
  ['role="option"', ''],
  [`:aria-label="[...p.titles, p.title].join(' > ')"`, ''],
  ['<kbd :aria-label', '<kbd role="img" :aria-label'],
]

/** A plugin of Vite. */
export const accessibleSearchBox = {
  name: 'accessible-search-box',
  enforce: 'pre',
  transform(code, id) {
    if (!id.endsWith('/VPLocalSearchBox.vue')) return undefined
    return corrections.reduce((corrected, [wrong, right]) => {
      if (!corrected.includes(wrong)) throw new Error(`The search box has no ${wrong}`)
      return corrected.replaceAll(wrong, right)
    }, code)
  },
}
