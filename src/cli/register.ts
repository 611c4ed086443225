// Lets Node run the TypeScript of a project: node --import pierhead/typescript server.ts
import { join } from 'node:path'
import { importSources } from './typescript.ts'

importSources(join(process.cwd(), 'any.ts'))
