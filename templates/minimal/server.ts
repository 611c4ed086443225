import { createServer } from 'pierhead'
import tools from './tools/index.ts'

const app = createServer({ name: '{{name}}', version: '1.0.0', tools })

export default app
