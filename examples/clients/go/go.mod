module github.com/politely-crawler/politely/examples/clients/go

go 1.19
