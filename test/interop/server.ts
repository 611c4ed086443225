import { createInteropApp } from './app.ts'

await createInteropApp().listen()
