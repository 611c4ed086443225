import { ModelNames } from './src/client/model-names.ts'
const names = new ModelNames(['a'], '__'); const seen = new Map<string,string>()
for (let i=0;i<6_000_000;i++){ const n='t.'+i.toString(36); const k=names.nameOf('a', n).slice(-10); const o=seen.get(k); if(o!==undefined){console.log(o,n,names.nameOf('a',o),names.nameOf('a',n)); if (names.nameOf('a',o)===names.nameOf('a',n)) break} seen.set(k,n)}
