/**
 * The Skills extension, `io.modelcontextprotocol/skills`: servers publish skills, which are folders
 * of instructions for agents; clients list them, and load them verified.
 *
 * @see https://modelcontextprotocol.io/extensions/skills/overview
 * @module
 */
export { skills, type DynamicSkill, type SkillsOptions, type StaticSkill } from './serve.ts'
export { getSkill, listAllSkills, listSkills, readDirectory } from './list.ts'
export { loadSkill, type LoadedSkill, type SkillContent } from './load.ts'
export { SKILLS, type Frontmatter, type Skill, type SkillResource } from './skill.ts'
