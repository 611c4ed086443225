import { connect } from 'pierhead/client'

const weather = await connect({ command: 'node', args: ['server.ts'] })

for await (const { name, description } of weather.tools()) console.log(`${name}: ${description}`)
console.log(await weather.call('forecast', { city: 'Lisbon' }))

await weather.close()
