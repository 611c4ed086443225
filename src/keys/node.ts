export { allowKeys } from './allow.ts'
export { createKeys, pinKey } from './files.ts'
