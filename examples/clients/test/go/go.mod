module crawl

go 1.19

require politely v0.0.0

replace politely => ../../go
