import { createEverything } from './app.ts'

await createEverything().listen({ stdio: true })
