// The order in which test files start.
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { longest } from './folders.ts'

/**
 * Starts the longest test files of each project first. A worker ends when a file of another project is
 * next, so the projects come one after the other.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification): number => {
      const index = longest.findIndex((file) => moduleId.endsWith(file))
      const place = index < 0 ? longest.length : index
      // Those with a database mostly wait, so the end of a run, when workers have no more to do, is not theirs
      return project.name === 'postgres' ? place - 2 * longest.length : place
    }
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other))
  }
}
