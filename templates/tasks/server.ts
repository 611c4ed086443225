import { join } from 'node:path'
import { createServer } from 'pierhead'
import { sqlite } from 'pierhead/stores'
import tools from './tools/index.ts'

// Work that was begun is in a file beside this one, wherever the server is started, so it goes on after a restart.
const store = sqlite(join(process.env['DATA_DIR'] ?? import.meta.dirname, 'work.db'))

const app = createServer({ name: '{{name}}', version: '1.0.0', tools, store })

export default app
