import { createServer } from 'pierhead'
import { about, options } from './options.mjs'

const { addInput, wideToolsOf } = await import(`./${options.schema}-tools.mjs`)

/** Our server with so many tools of ten fields, from the built package. */
export function createApp(wide) {
  const app = createServer({ ...about, pageSize: 100_000, limits: { sessions: options.sessions } })
  const described = { description: 'Adds two numbers.', input: addInput }
  if (options.add) app.tool('add', described, options.progress ? addWithProgress : add)
  for (const { name, description, input } of wideToolsOf(wide))
    app.tool(name, { description, input }, () => 'filed')
  return app
}

function add({ a, b }) {
  return String(a + b)
}

function addWithProgress({ a, b }, { progress }) {
  progress(1, 2)
  return String(a + b)
}
