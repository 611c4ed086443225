import { createServer } from 'pierhead'
import { add } from './handlers.mjs'
import { about, options } from './options.mjs'

const { addInput, textInput, wideToolsOf } = await import(`./${options.schema}-tools.mjs`)

const stores = options.redis === undefined ? undefined : await import('pierhead/stores')

/** Our server with `wide` tools of ten fields, from the built package. */
export function createApp(wide, listener = 0) {
  const store = stores?.redis({ url: options.redis.url, prefix: `${options.redis.prefix}-${listener}` })
  const limits = { sessions: options.sessions }
  const app = createServer({ ...about, pageSize: 100_000, limits, store })
  const described = { description: 'Adds two numbers.', input: addInput }
  if (options.add) app.tool('add', described, options.progress ? addWithProgress : add)
  if (options.text) {
    app.tool('echo', { description: 'Answers a text.', input: textInput }, ({ text }) => text)
    app.tool('start', { description: 'Answers how a text begins.', input: textInput }, startOf)
  }
  if (options.change) app.tool('change', {}, () => change(app))
  if (options.wait) {
    app.tool('wait', {}, (_, { signal }) => aborted(signal))
    app.resource('note://{number}', {}, () => 'a note')
  }
  for (const { name, description, input } of wideToolsOf(wide))
    app.tool(name, { description, input }, () => 'filed')
  return app
}

let changes = 0

function change(app) {
  app.tool(`more-${++changes}`, {}, () => 'more')
  return 'changed'
}

function aborted(signal) {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve('gone')))
}

function startOf({ text }) {
  return text.slice(0, 7)
}

function addWithProgress(input, { progress }) {
  progress(1, 2)
  return add(input)
}
