// Lets Node run the TypeScript of a project: node --import pierhead/typescript server.ts
import { join } from 'node:path'
import { Failure } from './failure.ts'
import { showSourceErrors } from './source-error.ts'
import { importSources } from './typescript.ts'

showSourceErrors()
try {
  importSources(join(process.cwd(), 'any.ts'))
} catch (thrown) {
  if (!(thrown instanceof Failure)) throw thrown
  // Its stack is of no interest.
  console.error(`error: ${thrown.message}\nfix: ${thrown.hint ?? 'Correct it.'}`)
  process.exit(1)
}
