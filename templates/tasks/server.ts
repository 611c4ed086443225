import { createServer } from 'pierhead'
import { sqlite } from 'pierhead/stores'
import tools from './tools/index.ts'

// Work that was begun is in this file, so it goes on after a restart.
const app = createServer({ name: '{{name}}', version: '1.0.0', tools, store: sqlite('work.db') })

export default app
