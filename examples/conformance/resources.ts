import type { App } from 'pierhead'
import { PNG } from './media.ts'

/** Adds a text resource, a binary one, a template, and one to subscribe to. */
export function addResources(app: App): void {
  const fixed = { name: 'static-text', description: 'A text that never changes', mimeType: 'text/plain' }
  app.resource('test://static-text', fixed, () => 'This is the content of the static text resource.')

  const picture = {
    name: 'static-binary',
    description: 'A picture that never changes',
    mimeType: 'image/png',
  }
  app.resource('test://static-binary', picture, () => ({ blob: PNG }))

  const template = { name: 'template', description: 'Data by its id', mimeType: 'application/json' }
  app.resource('test://template/{id}/data', template, ({ id }) => {
    return { id, templateTest: true, data: `Data for ID: ${id}` }
  })

  const watched = { name: 'watched-resource', description: 'A text to subscribe to', mimeType: 'text/plain' }
  app.resource('test://watched-resource', watched, () => 'Watched resource content')
}
