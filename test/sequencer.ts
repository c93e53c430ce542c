// The order in which test files start.
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { longest } from './folders.ts'

/** Starts the longest test files first. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = longest.findIndex((file) => moduleId.endsWith(file))
      return index < 0 ? longest.length : index
    }
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other))
  }
}
