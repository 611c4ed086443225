import { createServer } from '../../src/index.ts'

/** A program that does not look at whether its server listens. */
void createServer({ name: 'unawaited', version: '1' }).listen({ http: { port: 70_000 } })
