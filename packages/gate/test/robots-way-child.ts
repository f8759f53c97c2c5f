// Runs the cases whose numbers are given, and prints what each led to as a line of JSON.
import { wayCases } from './robots-way-cases.ts'

for (const number of process.argv.slice(2)) console.log(JSON.stringify(await wayCases[Number(number)]?.run()))
