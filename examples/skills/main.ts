// Serves the folder `edgewise`, an Agent Skill that teaches this SDK, and loads it as a host would.
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'edgewise/server'
import { listAllSkills, loadSkill, skills } from 'edgewise/skills'
import { connectInMemory } from 'edgewise/testing'

/** Reads the Markdown files of a folder, by their paths in it. */
async function readFolder(folder: URL): Promise<Record<string, string>> {
  const names = await readdir(folder, { recursive: true })
  const paths = names
    .map((name) => name.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.md'))
  const files = paths.map(async (path) => [path, await readFile(new URL(path, folder), 'utf8')])
  return Object.fromEntries(await Promise.all(files))
}

const files = await readFolder(new URL('./edgewise/', import.meta.url))
const server = createServer({ name: 'skills', version: '1.0.0' })
server.extend(skills([{ files }]))

await using client = await connectInMemory(server)
const [skill] = await listAllSkills(client)
assert(skill)
assert.equal(skill.frontmatter.name, 'edgewise')
// A host shows the description, and asks the user before it loads the skill
console.log(skill.frontmatter.description)

// Each file is verified against the digest in the list
const { text, read } = await loadSkill(client, skill)
for (const [, path = ''] of text.matchAll(/\]\((references\/[^)]+)\)/g)) {
  assert.equal((await read(path)).text, files[path])
}
console.log(`Loaded ${Object.keys(files).length} files`)
