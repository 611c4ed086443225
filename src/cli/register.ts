// Lets Node run the TypeScript of a project: node --import pierhead/typescript server.ts
import { join } from 'node:path'
import { showSourceErrors } from './source-error.ts'
import { importSources } from './typescript.ts'

showSourceErrors()
importSources(join(process.cwd(), 'any.ts'))
