module crawl

go 1.19

require github.com/politely-crawler/politely/examples/clients/go v1.1.0

replace github.com/politely-crawler/politely/examples/clients/go => ../../go
