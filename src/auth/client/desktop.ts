export { openLoopback } from './loopback.ts'
export { showPage } from './opener.ts'
