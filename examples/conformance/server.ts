import { createServer, type App } from 'pierhead'
import { addChanges } from './changes.ts'
import { addPrompts } from './prompts.ts'
import { addQuestions } from './questions.ts'
import { addResources } from './resources.ts'
import { addRounds } from './rounds.ts'
import { addTasks } from './tasks.ts'
import { addTools } from './tools.ts'

/** A server with everything that the official conformance suite requires. */
export function createFixture(): App {
  const app = createServer({ name: 'conformance-fixture', version: '1.0.0' })
  addTools(app)
  addQuestions(app)
  addRounds(app)
  addChanges(app)
  addResources(app)
  addPrompts(app)
  addTasks(app)
  return app
}

if (import.meta.filename === process.argv[1]) {
  const port = Number(process.env['PORT'] ?? 3000)
  const running = await createFixture().listen({ http: { port, host: '127.0.0.1', path: '/mcp' } })
  console.log(`listening at ${running.url}`)
}
