import { createServer, embed, image, type App, type ServerOptions } from 'pierhead'
import { CHANGED, CITIES, ICON, PNG } from './app-facts.ts'
import { addQuestions } from './app-questions.ts'
import { addTools, World } from './app-tools.ts'

/** The server that the official clients use: something of every feature, the same on every transport. */
export function createInteropApp(options: Partial<ServerOptions> = {}, world: World = new World()): App {
  const app = createServer({
    name: 'interop',
    version: '1.2.3',
    title: 'Interop',
    description: 'Something of every feature',
    websiteUrl: 'https://example.com/',
    icons: [ICON],
    instructions: 'Call echo first.',
    pageSize: 4,
    log: () => undefined,
    ...options,
  })
  addTools(app, world)
  addQuestions(app, world)
  addResources(app)
  addPrompts(app)
  return app
}

function addResources(app: App): void {
  app.resource(
    'note://hello',
    {
      name: 'hello',
      title: 'Hello',
      description: 'A greeting',
      mimeType: 'text/plain',
      size: 12,
      icons: [ICON],
      annotations: { audience: ['user'], priority: 0.5, lastModified: CHANGED },
    },
    () => 'Hello, wörld',
  )
  app.resource('note://logo', { name: 'logo', mimeType: 'image/png' }, () => PNG)
  app.resource('note://facts', { name: 'facts', mimeType: 'application/json' }, () => ({ answer: 42 }))
  app.resource('note://pair', { name: 'pair', mimeType: 'text/plain' }, () => [
    { uri: 'note://pair#1', text: 'one' },
    { uri: 'note://pair#2', mimeType: 'application/octet-stream', blob: PNG },
  ])
  app.resource('note://last', { name: 'last' }, () => 'the end')
  app.resource(
    'city://{country}/{city}',
    { name: 'city', title: 'City', description: 'A city', mimeType: 'text/plain' },
    ({ country, city }) => `${city} in ${country}`,
  )
  for (const kind of ['plant', 'stone', 'river', 'star']) {
    app.resource(`${kind}://{name}`, { name: kind }, ({ name }) => `${kind} ${String(name)}`)
  }
  app.complete('city://{country}/{city}', 'city', (value, known) => {
    const all = known['country'] === 'it' ? ['Parma', 'Rome'] : CITIES
    return all.filter((city) => city.startsWith(value))
  })
}

function addPrompts(app: App): void {
  const args = {
    type: 'object',
    properties: {
      name: { type: 'string', title: 'Name', description: 'Who is greeted' },
      style: { type: 'string' },
    },
    required: ['name'],
  } as const
  app.prompt(
    'greet',
    { title: 'Greet', description: 'Greets somebody', args, icons: [ICON] },
    ({ name, style }) => [
      { role: 'user', content: `Greet ${name}.` },
      { role: 'assistant', content: style === undefined ? 'In which style?' : `In a ${style} style.` },
    ],
  )
  app.complete('greet', 'style', (value) => {
    const values = Array.from({ length: 150 }, (_, index) => `${value}-${index}`)
    return { values, total: 1000 }
  })
  app.prompt('show', {}, () => [
    { role: 'user', content: image(PNG, 'image/png') },
    { role: 'user', content: embed('note://hello', 'Hello', 'text/plain') },
  ])
  for (const name of ['first', 'second', 'third']) app.prompt(name, {}, () => name)
  app.prompt('broken', {}, (_, { log }) => {
    log.error('about to break')
    throw new Error('the password is hunter2')
  })
}
