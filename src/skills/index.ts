/**
 * The Skills extension, `io.modelcontextprotocol/skills`. Servers publish skills, which are folders of
 * instructions for agents. Clients list skills, and verify the files that they load.
 *
 * The extension is in Beta, and its exports may change in minor versions.
 *
 * @see https://modelcontextprotocol.io/extensions/skills/overview
 * @module
 */
export { skills } from './serve.ts'
export { getSkill, listAllSkills, listSkills, readDirectory } from './list.ts'
export { loadSkill } from './load.ts'
export type { LoadedSkill } from './load.ts'
export type { Skill } from './skill.ts'
